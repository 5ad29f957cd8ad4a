SELECT 'a;''b', "c;d" -- e;
, $t$;$$;$t$ /* ; /* ; */ */, E'\';'; FROM x;
